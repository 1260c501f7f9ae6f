// A program whose pauses are the demonstration's, and whose number is told by its arguments: each is a letter, mostly with
// a number behind it. Children work through what follows up to `.`; after it the parent goes on.
//
//   p7    seven pauses
//   m7    seven pauses, each of which touches three fresh pages
//   s50   sleep for 50 ms
//   q1000 a thousand pauses of no length
//   r     wait until the file that the variable GO names is there
//   f     fork
//   w     wait for all children; the status is 1 when one of them was ended by a signal or failed
//   x     run the program that follows, with the arguments behind it
//   X     the same from another thread than the first
//   v     run the program that follows, up to `.`, in a child made by vfork
//   t     print a line: `told` and the process id
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline, used)) void pauselens_demo_stop_world(int reason) {
    __asm__ volatile("nop" ::"r"(reason));
}

__attribute__((noinline, used)) void pauselens_demo_start_world(void) {
    __asm__ volatile("nop");
}

static void sleep_ms(int ms) {
    struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
    nanosleep(&time, 0);
}

static __attribute__((noinline)) void pauses(int number, long ns) {
    struct timespec time = {0, ns};
    for (int done = 0; done < number; done++) {
        pauselens_demo_stop_world(5);
        if (ns > 0) nanosleep(&time, 0);
        pauselens_demo_start_world();
    }
}

static __attribute__((noinline)) void pauses_with_faults(int number) {
    enum { PAGE = 4096, PAGES = 3 };
    char *memory = mmap(0, number * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, number * PAGES * PAGE, MADV_NOHUGEPAGE);
    struct timespec time = {0, 100000};
    for (char *at = memory; number > 0; number--) {
        pauselens_demo_stop_world(5);
        for (int page = 0; page < PAGES; page++, at += PAGE) *(volatile char *)at = 1;
        nanosleep(&time, 0);
        pauselens_demo_start_world();
    }
}

static void *run(void *words) {
    execv(*(char **)words, words);
    perror("exec");
    exit(9);
}

static int all_children_ended_well(void) {
    int status, well = 1;
    while (wait(&status) > 0) well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return well;
}

int main(int count, char **arguments) {
    for (int at = 1; at < count; at++) {
        char *word = arguments[at];
        int number = atoi(word + 1);
        switch (word[0]) {
        case 'p': pauses(number, 100000); break;
        case 'm': pauses_with_faults(number); break;
        case 'q': pauses(number, 0); break;
        case 's': sleep_ms(number); break;
        case 'r': while (access(getenv("GO"), F_OK) != 0) sleep_ms(2); break;
        case 't': printf("told %d\n", getpid()); fflush(stdout); break;
        case 'f':
            if (fork() != 0) {
                int depth = 1;
                while (depth > 0 && ++at < count) {
                    if (strcmp(arguments[at], "f") == 0) depth++;
                    if (strcmp(arguments[at], ".") == 0) depth--;
                }
            }
            break;
        case 'X': {
            pthread_t thread;
            pthread_create(&thread, 0, run, arguments + at + 1);
            pthread_join(thread, 0);
            return 7;
        }
        case 'v': {
            int end = at + 1;
            while (strcmp(arguments[end], ".") != 0) end++;
            arguments[end] = 0;
            if (vfork() == 0) {
                execv(arguments[at + 1], arguments + at + 1);
                _exit(9);
            }
            at = end;
            break;
        }
        case '.': return 0;
        case 'w': if (!all_children_ended_well()) return 1; break;
        case 'x': execv(arguments[at + 1], arguments + at + 1); perror("exec"); return 9;
        default: return 8;
        }
    }
    return 0;
}
