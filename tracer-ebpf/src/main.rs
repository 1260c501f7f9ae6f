//! The kernel side of pauselens: one module per probe family; the same topic names stand on the user side.
//!
//! Rules (design.md): totals are exact, details may be dropped and a drop is counted, nobody is woken during a
//! pause, and no kernel structure is read by offset.
#![no_std]
#![no_main]
#![feature(asm_experimental_arch)]

mod call;
mod device;
mod exit;
mod fault;
mod freeing;
mod kind;
mod lineage;
mod loss;
mod pause;
mod registers;
mod schedule;
mod settings;
mod signal;
mod stack;
mod stack_copy;
mod target;
mod thread;
mod tracepoint;
mod window;
mod worker;

#[cfg(not(test))]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
