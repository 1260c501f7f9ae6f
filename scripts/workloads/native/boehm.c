/* Collections of the Boehm-Demers-Weiser collector, with threads that have to be stopped for each. Told to run, it
   works and says what it did; the collector counts. */

#define GC_THREADS
#include <gc.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct node {
    struct node *next;
    char rest[56];
};

static struct node *kept;
static volatile unsigned long spun;

static long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* A thread that the collector has to stop. */
static void *mutator(void *nothing)
{
    for (;;) {
        void *volatile young = GC_MALLOC_ATOMIC(16);

        (void)young;
        spun++;
        usleep(1000);
    }
    return nothing;
}

static unsigned long collections(void) { return (unsigned long)GC_get_gc_no(); }

static void one(const char *kind, int last)
{
    unsigned long before = collections();
    long began = now_ns();

    GC_gcollect();
    printf("{\"kind\":\"%s\",\"collections\":%lu,\"began_ns\":%ld,\"ended_ns\":%ld}%s", kind,
           collections() - before, began, now_ns(), last ? "" : ",");
}

static void run(void)
{
    unsigned long before = collections();
    int i;

    fputs("--- run begins\n", stderr);
    printf("{\"intervals\":[");
    for (i = 1; i <= 10; i++)
        one("full", i == 10);
    fputs("--- run ends\n", stderr);
    printf("],\"collections\":%lu}\n", collections() - before);
    fflush(stdout);
}

int main(void)
{
    char line[100];
    int i;
    pthread_t thread;

    GC_INIT();
    for (i = 0; i < 200000; i++) {
        struct node *node = GC_MALLOC(sizeof *node);

        node->next = kept;
        kept = node;
    }
    for (i = 0; i < 2; i++)
        pthread_create(&thread, NULL, mutator, NULL);
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
