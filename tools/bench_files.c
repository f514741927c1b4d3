/* bench_files.c - the results of `tilemm bench` as CSV and JSON.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bench_report.h"

/* A column of CSV, a member of JSON: a text, or a number where it is NULL. */
typedef struct {
    const char *name, *text;
    double number;
    int digits; /* in CSV */
} field_t;

enum { FIELDS = 16, BEFORE_FACTS = 10 /* CSV has the machine's facts there */, ERROR_KIND = 14 };

static void fields_of(const report_t *report, const record_t *r, field_t *fields)
{
    const table_t *table = &report->tables[r->table];
    const contender_t *got = &r->got;
    memcpy(fields,
           (const field_t[FIELDS]){{"verb", r->of.verb, 0, 0},
                                   {"device", table->device, 0, 0},
                                   {"table", table->title, 0, 0},
                                   {"size", r->of.size, 0, 0},
                                   {"version", got->name, 0, 0},
                                   {"kernel", got->kernel, 0, 0},
                                   {"repetitions", NULL, got->reps, 9},
                                   {"median_s", NULL, got->median, 9},
                                   {"q1_s", NULL, got->q1, 9},
                                   {"q3_s", NULL, got->q3, 9},
                                   {"rate", NULL, r->rate, 9},
                                   {"unit", r->of.unit, 0, 0},
                                   {"ratio", NULL, r->ratio, 6},
                                   {"error", NULL, got->error, 9},
                                   {"error_kind", r->of.error_kind, 0, 0},
                                   {"norm_error", NULL, got->norm_error, 9}},
           FIELDS * sizeof *fields);
}

void report_write_quoted(FILE *file, const char *text, char quote)
{
    putc(quote, file);
    for (; *text; text++) {
        if (*text == quote)
            putc(quote, file);
        putc(*text, file);
    }
    putc(quote, file);
}

/* In quotes where the column always has them (device, table, version), or the text needs them. */
static void write_csv_text(FILE *file, const char *text, int column)
{
    if (column == 1 || column == 2 || column == 4 || strpbrk(text, ",\"\n"))
        report_write_quoted(file, text, '"');
    else
        fputs(text, file);
}

void report_write_csv(const report_t *report)
{
    FILE *file = report->csv;
    field_t fields[FIELDS];
    fputs("verb,device,table,size,version,kernel,repetitions,median_s,q1_s,q3_s,", file);
    for (int i = 0; i < FACTS; i++)
        fprintf(file, "%s,", fact_names[i].name);
    fputs("rate,unit,ratio,error,error_kind,norm_error\n", file);
    for (size_t i = 0; i < report->count; i++) {
        fields_of(report, &report->records[i], fields);
        if (isnan(report->records[i].got.error))
            fields[ERROR_KIND].text = "";
        for (int f = 0; f < FIELDS; f++) {
            for (int fact = 0; f == BEFORE_FACTS && fact < FACTS; fact++) {
                write_csv_text(file, report->facts[fact], 0);
                putc(',', file);
            }
            if (fields[f].text)
                write_csv_text(file, fields[f].text, f);
            else if (!isnan(fields[f].number))
                fprintf(file, "%.*g", fields[f].digits, fields[f].number);
            putc(f + 1 < FIELDS ? ',' : '\n', file);
        }
    }
}

static void write_json_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', file);
        if ((unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            putc(*text, file);
    }
    putc('"', file);
}

/* Numbers are written as such, null where nothing is known. */
static void write_json_machine(FILE *file, const report_t *report)
{
    fputs("\"machine\": {", file);
    for (int i = 0; i < FACTS; i++) {
        fprintf(file, "%s\n  \"%s\": ", i ? "," : "", fact_names[i].name);
        if (*report->facts[i] && !fact_names[i].is_number)
            write_json_text(file, report->facts[i]);
        else
            fputs(*report->facts[i] ? report->facts[i] : "null", file);
    }
    fputs("\n}", file);
}

/* JSON has neither NaN, which is null here, nor infinity, which is the largest double. */
void report_write_json(const report_t *report)
{
    FILE *file = report->json;
    field_t fields[FIELDS];
    fprintf(file, "{\"tilemm\": \"%s\", ", tilemm_version());
    write_json_machine(file, report);
    fputs(", \"results\": [", file);
    for (size_t i = 0; i < report->count; i++) {
        fields_of(report, &report->records[i], fields);
        fprintf(file, "%s\n  {", i ? "," : "");
        for (int f = 0; f < FIELDS; f++) {
            const double x = fields[f].number;
            fprintf(file, "%s\"%s\": ", f ? ", " : "", fields[f].name);
            if (fields[f].text)
                write_json_text(file, fields[f].text);
            else if (isnan(x))
                fputs("null", file);
            else
                fprintf(file, "%.17g", isinf(x) ? copysign(DBL_MAX, x) : x);
        }
        putc('}', file);
    }
    fputs("\n]}\n", file);
}
