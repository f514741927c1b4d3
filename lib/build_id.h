#define TILEMM__BUILD "0.1.0, interface 720388416"
