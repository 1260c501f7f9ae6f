# Collections in Crystal, whose collector is the Boehm-Demers-Weiser collector. Told to run, it works and says what it did; the
# collector counts.

lib LibGC
  fun get_gc_no = GC_get_gc_no : LibC::ULong
end

lib LibC
  fun clock_gettime(clock : Int32, time : Timespec*) : Int32
end

def now_ns : Int64
  LibC.clock_gettime(1, out time)
  time.tv_sec.to_i64 * 1_000_000_000 + time.tv_nsec.to_i64
end

def run
  STDERR.puts "--- run begins"
  before = LibGC.get_gc_no
  intervals = [] of String
  10.times do
    counted = LibGC.get_gc_no
    began = now_ns
    GC.collect
    ended = now_ns
    collections = LibGC.get_gc_no - counted
    intervals << %({"kind":"full","collections":#{collections},"began_ns":#{began},"ended_ns":#{ended}})
  end
  collections = LibGC.get_gc_no - before
  STDERR.puts "--- run ends"
  puts %({"intervals":[#{intervals.join(",")}],"collections":#{collections}})
  STDOUT.flush
end

kept = (0...200_000).map(&.to_s)
puts "{}"
STDOUT.flush
while line = gets
  if line == "run"
    run
  else
    puts "{}"
    STDOUT.flush
  end
end
puts kept.size
