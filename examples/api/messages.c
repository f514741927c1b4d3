/* TODO. */
int main(void)
{
}
