# Collections of known kinds, on demand.
#
# Each line on standard input is a kind and a number; that many collections are made, and the answer, a line of JSON,
# has what the interpreter counted (GC.count) and the CPU time that GC::Profiler gives each.
# `churn 3` makes garbage until the collector has come three times by itself.

$stdout.sync = true
KEPT = Array.new(200_000) { |number| [number] }
GC.start
GC.disable
GC::Profiler.enable

puts "ready"
$stdin.each_line do |line|
  kind, number = line.split
  GC::Profiler.clear
  before = GC.count
  case kind
  when "minor" then Integer(number).times { GC.start(full_mark: false, immediate_sweep: true) }
  when "major" then Integer(number).times { GC.start(full_mark: true, immediate_sweep: true) }
  when "churn"
    GC.enable
    Array.new(1000) { |i| [i] } while GC.count < before + Integer(number)
    GC.disable
    # What is left of the last one is done now, so that nothing is on its way when the answer comes.
    GC.start
  end
  times = GC::Profiler.raw_data.map { |record| (record[:GC_TIME] * 1e9).round }
  puts "{\"counted\":#{GC.count - before},\"cpu_ns\":[#{times.join(",")}]}"
end
