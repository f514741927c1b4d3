/* peer.c - ScaLAPACK's PSGEMM over OpenBLAS, loaded at run time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "tools/reference.h"

static struct {
    int tried;
    char name[160];
    int (*system_handle)(MPI_Comm comm);
    void (*grid_init)(int *context, const char *order, int rows, int cols);
    void (*grid_exit)(int context);
    void (*psgemm)(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                   const float *alpha, const float *a, const int *ia, const int *ja,
                   const int *desca, const float *b, const int *ib, const int *jb, const int *descb,
                   const float *beta, float *c, const int *ic, const int *jc, const int *descc);
} scalapack;

typedef struct {
    int context;
} peer_t;

/* The library of the MPI that this program has; or the file that TILEMM_REFERENCE_SCALAPACK names.
 */
static void *open_scalapack(void)
{
    static const char *const of_openmpi[] = {"libscalapack-openmpi.so.2.2",
                                             "libscalapack-openmpi.so", "libscalapack.so"};
    static const char *const of_others[] = {"libscalapack-mpich.so.2.2", "libscalapack-mpich.so",
                                            "libscalapack.so"};
    const char *wanted = getenv("TILEMM_REFERENCE_SCALAPACK");
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    if (wanted && *wanted)
        return strcmp(wanted, "none") == 0 ? NULL : dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    MPI_Get_library_version(version, &length);
    const char *const *names = strstr(version, "Open MPI") ? of_openmpi : of_others;
    void *library = NULL;
    for (int i = 0; !library && i < 3; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* OpenBLAS is loaded for all to see first, so that ScaLAPACK calls it, whatever it was linked to.
 */
static int load(int threads)
{
    const reference_blas_t *blas = reference_blas();
    const char *wanted = getenv("TILEMM_REFERENCE_BLAS");
    const char *const names[] = {wanted && *wanted ? wanted : "libopenblas.so.0",
                                 "libopenblas.so.0", "libopenblas.so"};
    int is_global = 0;
    for (int i = 0; blas && !is_global && i < 3; i++)
        is_global = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != NULL;
    void *library = is_global ? open_scalapack() : NULL;
    if (!library)
        return 0;
    *(void **)&scalapack.system_handle = dlsym(library, "Csys2blacs_handle");
    *(void **)&scalapack.grid_init = dlsym(library, "Cblacs_gridinit");
    *(void **)&scalapack.grid_exit = dlsym(library, "Cblacs_gridexit");
    *(void **)&scalapack.psgemm = dlsym(library, "psgemm_");
    if (!scalapack.system_handle || !scalapack.grid_init || !scalapack.grid_exit ||
        !scalapack.psgemm)
        return 0;
    if (blas->set_threads)
        blas->set_threads(threads);
    snprintf(scalapack.name, sizeof scalapack.name, "ScaLAPACK, %s", blas->name);
    return 1;
}

const char *scalapack_name(int threads)
{
    int has = 0, all = 0;
    if (!scalapack.tried) {
        scalapack.tried = 1;
        has = load(threads);
        MPI_Allreduce(&has, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (!all)
            scalapack.name[0] = '\0';
    }
    return scalapack.name[0] ? scalapack.name : NULL;
}

int scalapack_open(problem_t *p, void **opened)
{
    peer_t *peer = malloc(sizeof *peer);
    if (any_failed(p->place, !peer)) {
        free(peer);
        return -command_error("no memory");
    }
    peer->context = scalapack.system_handle(p->place->comm);
    scalapack.grid_init(&peer->context, "Row", p->place->rows, p->place->cols);
    for (int matrix = 0; matrix < MATRICES; matrix++)
        p->desc[matrix][1] = peer->context;
    *opened = peer;
    return 0;
}

int run_scalapack(problem_t *p, void *unused)
{
    const int m = (int)p->size.m, n = (int)p->size.n, k = (int)p->size.k, one = 1;
    (void)unused;
    scalapack.psgemm(p->transa == TILEMM_NO_TRANS ? "N" : "T",
                     p->transb == TILEMM_NO_TRANS ? "N" : "T", &m, &n, &k, &p->alpha, p->part[A],
                     &one, &one, p->desc[A], p->part[B], &one, &one, p->desc[B], &p->beta,
                     p->part[C], &one, &one, p->desc[C]);
    return 0;
}

void scalapack_close(void *opened)
{
    peer_t *peer = opened;
    if (peer)
        scalapack.grid_exit(peer->context);
    free(peer);
}
