/* relay.c - see relay.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "relay.h"

#include <stdlib.h>

tilemm__relay_t *tilemm__relay_create(int side)
{
    tilemm__relay_t *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->side = side;
    pthread_mutex_init(&relay->mutex, NULL);
    pthread_cond_init(&relay->changed, NULL);
    return relay;
}

void tilemm__relay_destroy(tilemm__relay_t *relay)
{
    if (!relay)
        return;
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->mutex);
    free(relay);
}

int tilemm__relay_meet(tilemm__relay_t *relay, int yes)
{
    if (relay->members == 0)
        return yes;
    pthread_mutex_lock(&relay->mutex);
    const int meeting = relay->meetings;
    relay->against += !yes;
    if (++relay->votes == relay->members) {
        relay->verdict = relay->against == 0;
        relay->votes = relay->against = 0;
        relay->meetings++;
        pthread_cond_broadcast(&relay->changed);
    }
    while (relay->meetings == meeting)
        pthread_cond_wait(&relay->changed, &relay->mutex);
    const int verdict = relay->verdict;
    pthread_mutex_unlock(&relay->mutex);
    return verdict;
}

void tilemm__relay_announce(tilemm__relay_t *relay, int me, int64_t count)
{
    pthread_mutex_lock(&relay->mutex);
    relay->member[me].announced += count;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->mutex);
}

int tilemm__relay_wait(tilemm__relay_t *relay, int other, int64_t strip)
{
    pthread_mutex_lock(&relay->mutex);
    while (relay->member[other].announced <= strip && !relay->failed)
        pthread_cond_wait(&relay->changed, &relay->mutex);
    const int there = relay->member[other].announced > strip;
    pthread_mutex_unlock(&relay->mutex);
    return there;
}

void tilemm__relay_fail(tilemm__relay_t *relay)
{
    pthread_mutex_lock(&relay->mutex);
    relay->failed = 1;
    pthread_cond_broadcast(&relay->changed);
    pthread_mutex_unlock(&relay->mutex);
}
