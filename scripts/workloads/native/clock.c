/* The clock of the OCaml workloads, whose standard library has none like it: nanoseconds of CLOCK_MONOTONIC. */

#include <stdint.h>
#include <time.h>

intptr_t workload_now_ns(intptr_t unit)
{
    struct timespec now;

    (void)unit;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (intptr_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* For bytecode, which knows tagged integers only: shifted by one bit, with a 1 below. */
intptr_t workload_now_ns_boxed(intptr_t unit)
{
    return workload_now_ns(unit) * 2 + 1;
}
