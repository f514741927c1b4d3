/* scalapack_grid.c - grids of libtilemm on the grids of BLACS contexts.
 *
 * What is kept for a BLACS context is an attribute of the context's communicator: MPI deletes it
 * when BLACS frees that (blacs_gridexit), or when MPI ends.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for RTLD_DEFAULT and dladdr */
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/scalapack_grid.h"
#include "mpi/share.h"

/* A GPU is opened for a product of so much work a process: below it, opening takes longer. */
static const double least_gpu_work = 2e10;

typedef enum { MODE_AUTO, MODE_CPU, MODE_CUDA, MODE_OFF, MODES } tilemm__scalapack_mode_t;
enum { CPU, GPU, PLACES };

/* What is kept for a context. */
typedef struct kept {
    MPI_Comm comm;
    tilemm__scalapack_mode_t mode; /* the same on all processes */
    struct {
        int tried;
        tilemm_t ctx;
        tilemm_grid_t grid;
    } on[PLACES];
    int last; /* the place of the last grid that was asked for */
    struct kept *next;
} kept_t;

/* One thread calls BLACS, which is not safe for several. */
static kept_t *all;
static int has_keys, has_said, context_key, end_key;

static void say(const char *what, const char *why)
{
    if (!has_said)
        fprintf(stderr, "tilemm-scalapack: %s: %s\n", what, why);
    has_said = 1;
}

void *tilemm__scalapack_find_from(const char *name, const void *caller)
{
    Dl_info info, found;
    if (!dladdr(caller, &info))
        return NULL;
    /* Python loads modules so that others do not see what they need. */
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol && dladdr(symbol, &found) && dladdr(&all, &info) &&
        found.dli_fbase == info.dli_fbase)
        symbol = NULL; /* this library's own */
    if (library && !symbol)
        dlclose(library);
    return symbol;
}

static void *find(const char *name, const void *caller)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol ? symbol : tilemm__scalapack_find_from(name, caller);
}

int tilemm__scalapack_logs(void)
{
    const char *log = getenv("TILEMM_LOG");
    return log && strcmp(log, "1") == 0;
}

typedef void (*gridinfo_t)(const int *handle, int *rows, int *cols, int *row, int *col);
typedef void (*get_t)(const int *handle, const int *what, int *value);
static gridinfo_t gridinfo;
static get_t get;

int tilemm__blacs_ask(int handle, const void *caller, tilemm__blacs_t *blacs)
{
    if (!gridinfo)
        *(void **)&gridinfo = find("blacs_gridinfo_", caller);
    if (!get)
        *(void **)&get = find("blacs_get_", caller);
    if (!gridinfo || !get)
        return 0;
    *blacs = (tilemm__blacs_t){.handle = handle};
    gridinfo(&handle, &blacs->rows, &blacs->cols, &blacs->row, &blacs->col);
    return blacs->rows > 0 && blacs->cols > 0 && blacs->row >= 0 && blacs->col >= 0;
}

/* The communicator of the context's processes: Fortran's blacs_get with 10 returns its handle. */
static MPI_Comm communicator_of(const tilemm__blacs_t *blacs)
{
    const int what = 10;
    int fortran = -1, size;
    get(&blacs->handle, &what, &fortran);
    MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)fortran);
    if (comm == MPI_COMM_NULL || MPI_Comm_size(comm, &size) != MPI_SUCCESS ||
        size != blacs->rows * blacs->cols)
        return MPI_COMM_NULL;
    return comm;
}

/* ---- what is kept ----------------------------------------------------------------------- */

static void end_place(kept_t *kept, int place)
{
    tilemm_grid_destroy(kept->on[place].grid);
    tilemm_destroy(kept->on[place].ctx);
    kept->on[place].grid = NULL;
    kept->on[place].ctx = NULL;
}

static void end_kept(kept_t *kept)
{
    for (int place = 0; place < PLACES; place++)
        end_place(kept, place);
    for (kept_t **link = &all; *link; link = &(*link)->next)
        if (*link == kept) {
            *link = kept->next;
            break;
        }
    free(kept);
}

static int forget_context(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm;
    (void)key;
    (void)unused;
    end_kept(value);
    return MPI_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first. */
static int forget_all(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)unused;
    while (all)
        MPI_Comm_delete_attr(all->comm, context_key);
    return MPI_SUCCESS;
}

static int make_keys(void)
{
    if (!has_keys &&
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_context, &context_key, NULL) ==
            MPI_SUCCESS &&
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_all, &end_key, NULL) == MPI_SUCCESS)
        has_keys = MPI_Comm_set_attr(MPI_COMM_SELF, end_key, NULL) == MPI_SUCCESS;
    return has_keys;
}

static int agree(MPI_Comm comm, int yes)
{
    int all_yes = 0;
    return MPI_Allreduce(&yes, &all_yes, 1, MPI_INT, MPI_LAND, comm) == MPI_SUCCESS && all_yes;
}

/* The mode that TILEMM_SCALAPACK names, if all processes name it; else off. */
static tilemm__scalapack_mode_t agreed_mode(MPI_Comm comm)
{
    static const char *const names[MODES] = {"auto", "cpu", "cuda", "off"};
    const char *value = getenv("TILEMM_SCALAPACK");
    int mode = MODE_AUTO, rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (value && *value) {
        while (mode < MODES && strcmp(value, names[mode]) != 0)
            mode++;
        if (mode == MODES) {
            mode = MODE_AUTO;
            if (rank == 0)
                fprintf(stderr,
                        "tilemm-scalapack: TILEMM_SCALAPACK = %s, must be auto, cpu, cuda or off: "
                        "taken as auto\n",
                        value);
        }
    }
    int ends[2] = {mode, -mode}, most[2] = {MODE_OFF, 0};
    if (MPI_Allreduce(ends, most, 2, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
        return MODE_OFF;
    if (most[0] != -most[1]) {
        if (rank == 0)
            say("TILEMM_SCALAPACK", "differs among the processes: taken as off");
        return MODE_OFF;
    }
    return (tilemm__scalapack_mode_t)mode;
}

static kept_t *find_kept(const tilemm__blacs_t *blacs)
{
    kept_t *kept = NULL;
    int found = 0;
    MPI_Comm comm = communicator_of(blacs);
    if (comm == MPI_COMM_NULL || !make_keys())
        return NULL;
    if (MPI_Comm_get_attr(comm, context_key, &kept, &found) == MPI_SUCCESS && found)
        return kept;
    kept = calloc(1, sizeof *kept);
    if (!agree(comm, kept != NULL)) {
        free(kept);
        return NULL;
    }
    kept->comm = comm;
    kept->mode = agreed_mode(comm);
    kept->next = all;
    all = kept;
    if (MPI_Comm_set_attr(comm, context_key, kept) != MPI_SUCCESS)
        kept->mode = MODE_OFF;
    return kept;
}

/* ---- grids ------------------------------------------------------------------------------ */

/* BLACS numbers the context's processes by rows, as libtilemm does; if another does not, its
 * processes are put in that order. */
static tilemm_status_t create_grid(const tilemm__blacs_t *blacs, kept_t *kept, int place)
{
    MPI_Comm comm = kept->comm, ordered = MPI_COMM_NULL;
    int rank = -1;
    const int wanted = blacs->row * blacs->cols + blacs->col;
    MPI_Comm_rank(comm, &rank);
    if (!agree(comm, rank == wanted)) {
        if (MPI_Comm_split(comm, 0, wanted, &ordered) != MPI_SUCCESS)
            return TILEMM_INTERNAL_ERROR;
        comm = ordered;
    }
    const tilemm_status_t status = tilemm_grid_create(&kept->on[place].grid, comm, blacs->rows,
                                                      blacs->cols, kept->on[place].ctx);
    if (ordered != MPI_COMM_NULL)
        MPI_Comm_free(&ordered);
    return status;
}

static tilemm_grid_t open_place(const tilemm__blacs_t *blacs, kept_t *kept, int place)
{
    if (kept->on[place].tried)
        return kept->on[place].grid;
    kept->on[place].tried = 1;
    tilemm__share_t share;
    tilemm__share(kept->comm, &share);
    const int is_gpu = place == GPU;
    /* TILEMM_BACKEND=cpu keeps the mode auto from GPUs. */
    const tilemm_backend_t wanted = !is_gpu                   ? TILEMM_BACKEND_CPU
                                    : kept->mode == MODE_CUDA ? TILEMM_BACKEND_CUDA
                                                              : TILEMM_BACKEND_AUTO;
    tilemm_backend_t backend;
    tilemm_status_t status = is_gpu && share.devices == 0
                                 ? TILEMM_NO_DEVICE
                                 : tilemm_create(&kept->on[place].ctx, wanted, share.device);
    if (status == TILEMM_SUCCESS && is_gpu &&
        (tilemm_get_backend(kept->on[place].ctx, &backend) != TILEMM_SUCCESS ||
         backend != TILEMM_BACKEND_CUDA))
        status = TILEMM_NO_DEVICE;
    if (status == TILEMM_SUCCESS && !is_gpu && share.threads)
        status = tilemm_set_threads(kept->on[place].ctx, share.threads);
    if (status != TILEMM_SUCCESS && (!is_gpu || kept->mode == MODE_CUDA))
        say(is_gpu ? "no GPU can be used, the CPU goes on" : "libtilemm cannot be used",
            share.devices || !is_gpu ? tilemm_create_error() : "there is none");
    if (!agree(kept->comm, status == TILEMM_SUCCESS) ||
        create_grid(blacs, kept, place) != TILEMM_SUCCESS)
        end_place(kept, place);
    return kept->on[place].grid;
}

tilemm_grid_t tilemm__scalapack_grid(const tilemm__blacs_t *blacs, double work, int *on_gpu)
{
    kept_t *kept = find_kept(blacs);
    tilemm_grid_t grid = NULL;
    *on_gpu = 0;
    if (!kept || kept->mode == MODE_OFF)
        return NULL;
    if (kept->mode == MODE_CUDA || (kept->mode == MODE_AUTO && work >= least_gpu_work))
        grid = open_place(blacs, kept, GPU);
    *on_gpu = grid != NULL;
    if (!grid)
        grid = open_place(blacs, kept, CPU);
    kept->last = *on_gpu ? GPU : CPU;
    return grid;
}

int tilemm__scalapack_agree(const tilemm__blacs_t *blacs, int yes)
{
    kept_t *kept = find_kept(blacs);
    return kept && agree(kept->comm, yes);
}

void tilemm__scalapack_lose_gpu(const tilemm__blacs_t *blacs)
{
    kept_t *kept = find_kept(blacs);
    if (kept) {
        say("the GPU failed, the ScaLAPACK behind goes on", tilemm_last_error(kept->on[GPU].ctx));
        end_place(kept, GPU);
    }
}

const char *tilemm__scalapack_error(const tilemm__blacs_t *blacs)
{
    kept_t *kept = find_kept(blacs);
    return kept ? tilemm_last_error(kept->on[kept->last].ctx) : "";
}
