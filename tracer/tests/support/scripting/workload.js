// Collections of known kinds, on demand: run it with --expose-gc --trace-gc.
//
// Each line on standard input is a kind and a number; that many collections are made, and then comes a line that begins
// with `done`. What V8 counted are its own lines between (--trace-gc); after `done` stand the lengths that perf_hooks gives.
// `churn 3` makes garbage until three collections of the young generation have come by themselves; `threads 3` makes two
// workers collect three times each, at the same time.

'use strict';
const { Worker, isMainThread, workerData } = require('node:worker_threads');

if (!isMainThread) {
  for (let i = 0; i < workerData; i++) gc();
} else {
  const { PerformanceObserver } = require('node:perf_hooks');
  const { createInterface } = require('node:readline');
  const { writeSync } = require('node:fs');
  const entries = [];
  new PerformanceObserver((list) => entries.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
  const kept = Array.from({ length: 20000 }, (_, number) => [number]);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

  const act = {
    minor: async (number) => { for (let i = 0; i < number; i++) gc({ type: 'minor' }); },
    major: async (number) => { for (let i = 0; i < number; i++) gc(); },
    churn: async (number) => {
      const until = entries.length + number;
      while (entries.length < until) {
        for (let i = 0; i < 10000; i++) kept[i] = [i, { i }];
        await turn();
      }
    },
    threads: (number) => Promise.all([1, 2].map(() => new Promise((resolve) => {
      new Worker(__filename, { workerData: number }).on('exit', resolve);
    }))),
  };
  writeSync(1, 'ready\n');
  (async () => {
    for await (const line of createInterface({ input: process.stdin })) {
      const [kind, number] = line.split(' ');
      entries.length = 0;
      await act[kind](Number(number));
      await turn();
      const lengths = entries.map((entry) => Math.round(entry.duration * 1e6));
      writeSync(1, `done ${JSON.stringify(lengths)}\n`);
    }
  })();
}
