// A program with pauses of its own, driven line by line: `pause`, `fill`, `write-map`, … Its two pause
// functions are those that pauselens knows of its demonstration. Each command is answered by a line.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, used))
// Keeps a call from becoming a jump, and a function from being empty.
#define KEEP __asm__ volatile("" ::: "memory")

enum { PAGE = 4096, PAGES = 5 };

NOINLINE void pauselens_demo_stop_world(int reason) { __asm__ volatile("nop" ::"r"(reason)); }
NOINLINE void pauselens_demo_start_world(void) { __asm__ volatile("nop"); }

static char *fresh_pages(void) {
    char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) exit(2);
    madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    return pages;
}

// Without frame pointers the register is free for other uses, and is used.
#ifdef NO_FRAMES
#define USE_FRAME_REGISTER __asm__ volatile("mov $0x1234, %%rbp" ::: "rbp")
#else
#define USE_FRAME_REGISTER __asm__ volatile("" ::"r"(__builtin_frame_address(0)))
#endif

#define LEVEL(name, next)                      \
    NOINLINE static void name(char *page) {    \
        USE_FRAME_REGISTER;                    \
        next(page);                            \
        KEEP;                                  \
    }
NOINLINE static void touch(char *page) {
    USE_FRAME_REGISTER;
    *(volatile char *)page = 1;
    KEEP;
}
LEVEL(level_5, touch)
LEVEL(level_4, level_5)
LEVEL(level_3, level_4)
LEVEL(level_2, level_3)
LEVEL(level_1, level_2)

// By a function of another library, which has no frame pointers either.
static void *(*volatile fill_with)(void *, int, size_t) = memset;
NOINLINE static void fill_page(char *page) {
    USE_FRAME_REGISTER;
    fill_with(page, 1, 64);
    KEEP;
}

// By the kernel, on the program's behalf.
static int zero;
NOINLINE static void read_into(char *page) {
    USE_FRAME_REGISTER;
    if (read(zero, page, 16) != 16) exit(2);
    KEEP;
}

// Deep, with a frame of some size at each step.
NOINLINE static void dig(char *page, int depth) {
    volatile char room[256];
    USE_FRAME_REGISTER;
    room[depth] = 1;
    if (depth) dig(page, depth - 1);
    else *(volatile char *)page = 1;
    KEEP;
}
NOINLINE static void deep(char *page) {
    USE_FRAME_REGISTER;
    dig(page, 100);
    KEEP;
}

typedef void (*toucher)(char *page);

NOINLINE static void in_pause(toucher way) {
    char *pages = fresh_pages();
    pauselens_demo_stop_world(0);
    for (int i = 0; i < PAGES; i++) way(pages + i * PAGE);
    pauselens_demo_start_world();
    munmap(pages, PAGES * PAGE);
}

enum { MANY = 2000 };
NOINLINE static void many(void) {
    char *pages = mmap(NULL, MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) exit(2);
    madvise(pages, MANY * PAGE, MADV_NOHUGEPAGE);
    pauselens_demo_stop_world(0);
    for (int i = 0; i < MANY; i++) level_1(pages + i * PAGE);
    pauselens_demo_start_world();
    munmap(pages, MANY * PAGE);
}

// push %rbp; mov %rsp, %rbp; movb $1, (%rdi); pop %rbp; ret
static const unsigned char CODE[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x5d, 0xc3};
static char *code;

static void generate(void) {
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) exit(2);
    memcpy(code + 64, CODE, sizeof CODE);
    mprotect(code, PAGE, PROT_READ | PROT_EXEC);
}

static void write_map(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    if (!map) exit(2);
    fprintf(map, "%lx 1000 an earlier tenant\nnonsense\n", (unsigned long)code);
    fprintf(map, "%lx %lx LazyCompile:*make<T>; with blanks /a b.js:1:2\n", (unsigned long)(code + 64), sizeof CODE);
    fclose(map);
}

struct header { uint32_t magic, version, size, machine, padding, process; uint64_t time, flags; };
struct made { uint32_t kind, size; uint64_t time; uint32_t process, thread; uint64_t vma, address, length, number; };

static void write_dump(void) {
    static const char name[] = "compiled by the dumper";
    char path[64];
    snprintf(path, sizeof path, "/tmp/jit-%d.dump", getpid());
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct header header = {0x4a695444, 1, sizeof header, 62, 0, (uint32_t)getpid(), 1, 0};
    uint64_t at = (uint64_t)(code + 64);
    struct made made = {0, sizeof made + sizeof name + sizeof CODE, 2, (uint32_t)getpid(), (uint32_t)getpid(),
                        at, at, sizeof CODE, 1};
    if (write(file, &header, sizeof header) < 0 || write(file, &made, sizeof made) < 0 ||
        write(file, name, sizeof name) < 0 || write(file, CODE, sizeof CODE) < 0)
        exit(2);
    // So that a tracer finds it.
    if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) exit(2);
    close(file);
}

int main(void) {
    char line[64];
    zero = open("/dev/zero", O_RDONLY);
    generate();
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", getpid());
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "pause")) in_pause(level_1);
        else if (!strcmp(line, "fill")) in_pause(fill_page);
        else if (!strcmp(line, "read")) in_pause(read_into);
        else if (!strcmp(line, "deep")) in_pause(deep);
        else if (!strcmp(line, "many")) many();
        else if (!strcmp(line, "generated")) in_pause((toucher)(void *)(code + 64));
        else if (!strcmp(line, "write-map")) write_map();
        else if (!strcmp(line, "write-dump")) write_dump();
        else return 3;
        printf("%s\n", line);
    }
    return 0;
}
