/* Collections of Julia, whose runtime comes in a library that was made with it. Told to run, it works and says what it did;
   the runtime logs each collection and counts their time. */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* jl_gc_collection_t in Julia's src/julia.h. */
enum { FULL = 1, INCREMENTAL = 2 };

static void (*collect)(int);
static uint64_t (*collected_ns)(void);
static void *(*thread_state)(void);
static int8_t (*enter)(void *);
static void (*leave)(void *, int8_t);

static long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *needed(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

static void one(const char *kind, int how, int last)
{
    long began = now_ns();
    int8_t state = enter(thread_state());

    collect(how);
    leave(thread_state(), state);
    printf("{\"kind\":\"%s\",\"collections\":1,\"began_ns\":%ld,\"ended_ns\":%ld}%s", kind, began, now_ns(),
           last ? "" : ",");
}

static void run(void)
{
    uint64_t before = collected_ns();
    int i;

    fputs("--- run begins\n", stderr);
    printf("{\"intervals\":[");
    for (i = 1; i <= 10; i++)
        one(i <= 5 ? "full" : "incremental", i <= 5 ? FULL : INCREMENTAL, i == 10);
    fputs("--- run ends\n", stderr);
    printf("],\"collected_ns\":%lu}\n", (unsigned long)(collected_ns() - before));
    fflush(stdout);
}

/* Arguments: the library, one of its functions that takes nothing (its first call starts the runtime), the library of Julia's inside. */
int main(int count, char **arguments)
{
    char line[100];
    void *library, *julia;

    if (count != 4)
        return 2;
    library = dlopen(arguments[1], RTLD_NOW);
    julia = library ? dlopen(arguments[3], RTLD_NOW) : NULL;
    if (!julia) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    ((int32_t (*)(void))needed(library, arguments[2]))();
    /* The runtime's start has made reading not wait. */
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) & ~O_NONBLOCK);
    collect = (void (*)(int))needed(julia, "ijl_gc_collect");
    collected_ns = (uint64_t (*)(void))needed(julia, "ijl_gc_total_hrtime");
    thread_state = (void *(*)(void))needed(julia, "ijl_get_ptls_states");
    enter = (int8_t (*)(void *))needed(julia, "jl_gc_unsafe_enter");
    leave = (void (*)(void *, int8_t))needed(julia, "jl_gc_unsafe_leave");
    ((void (*)(int))needed(julia, "jl_enable_gc_logging"))(1);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    puts("{}");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "run\n") == 0)
            run();
        else {
            puts("{}");
            fflush(stdout);
        }
    }
    return 0;
}
