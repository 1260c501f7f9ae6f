// A program whose calls are known, told what to do line by line; each command is answered by a line. It is to be built
// with -O2 -pthread, so that `tail` ends in a jump.
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, used))
// Keeps a call from becoming a jump, and a function from being empty.
#define KEEP __asm__ volatile("" ::: "memory")

// A tracepoint of user space, as <sys/sdt.h> makes it: a nop, and a note that says where it is.
#define TRACEPOINT(provider, name)                                            \
    __asm__ volatile("990: nop\n"                                             \
                     ".pushsection .note.stapsdt,\"\",\"note\"\n"             \
                     ".balign 4\n"                                            \
                     ".4byte 992f-991f, 994f-993f, 3\n"                       \
                     "991: .asciz \"stapsdt\"\n"                              \
                     "992: .balign 4\n"                                       \
                     "993: .8byte 990b\n"                                     \
                     ".8byte _.stapsdt.base\n"                                \
                     ".8byte 0\n"                                             \
                     ".asciz \"" #provider "\"\n"                             \
                     ".asciz \"" #name "\"\n"                                 \
                     ".asciz \"\"\n"                                          \
                     "994: .balign 4\n"                                       \
                     ".popsection\n"                                          \
                     ".ifndef _.stapsdt.base\n"                               \
                     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
                     ".weak _.stapsdt.base\n"                                 \
                     ".hidden _.stapsdt.base\n"                               \
                     "_.stapsdt.base: .space 1\n"                             \
                     ".size _.stapsdt.base, 1\n"                              \
                     ".popsection\n"                                          \
                     ".endif\n" ::: "memory")

enum { PAGE = 4096, THREADS = 4, CALLS = 25, ROUNDS = 10 };

static void touch(int pages) {
    volatile char *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(2);
    for (int page = 0; page < pages; page++) memory[(size_t)page * PAGE] = 1;
    munmap((void *)memory, (size_t)pages * PAGE);
}

NOINLINE int work(int pages) { touch(pages); KEEP; return pages; }

NOINLINE int recursive(int n) {
    if (n == 0) return work(2);
    int below = recursive(n - 1);
    KEEP;
    return below + 1;
}

static jmp_buf back;
NOINLINE int leaves(int n) {
    KEEP;
    if (n % 2 == 0) longjmp(back, 1);
    return n;
}

NOINLINE int continued(int n) { touch(3); KEEP; return n; }
NOINLINE int tail(int n) {
    touch(5);
    return continued(n + 1);
}

NOINLINE void txn_begin(long number) { __asm__ volatile("" ::"r"(number)); }
NOINLINE void txn_end(void) { KEEP; }

static void *calls(void *unused) {
    for (int call = 0; call < CALLS; call++) work(3);
    return unused;
}

static void *transactions(void *unused) {
    for (long number = 0; number < ROUNDS; number++) {
        txn_begin(number);
        touch(7);
        txn_end();
    }
    return unused;
}

static void in_threads(int count, void *(*routine)(void *)) {
    pthread_t threads[THREADS];
    for (int thread = 0; thread < count; thread++) {
        if (pthread_create(&threads[thread], NULL, routine, NULL) != 0) exit(2);
    }
    for (int thread = 0; thread < count; thread++) pthread_join(threads[thread], NULL);
}

int main(void) {
    char line[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "threads") == 0) {
            in_threads(THREADS, calls);
        } else if (strcmp(line, "recurse") == 0) {
            for (volatile int round = 0; round < ROUNDS; round++) recursive(5);
        } else if (strcmp(line, "leave") == 0) {
            for (volatile int round = 0; round < ROUNDS; round++) {
                if (setjmp(back) == 0) leaves(round);
            }
        } else if (strcmp(line, "tail") == 0) {
            for (volatile int round = 0; round < ROUNDS; round++) tail(round);
        } else if (strcmp(line, "transactions") == 0) {
            in_threads(2, transactions);
        } else if (strcmp(line, "tracepoints") == 0) {
            for (volatile int round = 0; round < ROUNDS; round++) {
                TRACEPOINT(calls, begin);
                touch(7);
                TRACEPOINT(calls, end);
            }
        }
        puts(line);
    }
    return 0;
}
