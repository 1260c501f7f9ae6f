// Collections on demand.
//
// Each line on standard input is a number; that many collections of cycles are made, and the answer, a line of JSON, has what
// the interpreter counted (gc_status) and, from PHP 8.3 on, how long each took.
// `churn 3` makes garbage until the collector has come three times by itself.

gc_enable();
/** Makes objects that refer to themselves, so that only the collector frees them. */
function cycles(int $number): void {
    for ($i = 0; $i < $number; $i++) {
        $cell = new stdClass();
        $cell->self = $cell;
    }
}
/** Nanoseconds that the collector has taken so far, where it says so. */
function taken(): ?int {
    $status = gc_status();
    return isset($status['collector_time']) ? (int) round($status['collector_time'] * 1e9) : null;
}
$kept = [];
for ($i = 0; $i < 2000; $i++) {
    $kept[] = [new stdClass()];
}
gc_collect_cycles();
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    [$kind, $number] = explode(' ', trim($line));
    $before = gc_status()['runs'];
    $lengths = [];
    if ($kind === 'churn') {
        while (gc_status()['runs'] < $before + (int) $number) {
            cycles(100);
        }
    } else {
        for ($i = 0; $i < (int) $number; $i++) {
            cycles(5000);
            $then = taken();
            gc_collect_cycles();
            if ($then !== null) {
                $lengths[] = taken() - $then;
            }
        }
    }
    echo json_encode(['counted' => gc_status()['runs'] - $before, 'lengths_ns' => $lengths]), "\n";
}
