// Pauses is a Java program that does what it is told, one command for each line on stdin, and answers each with one
// line of JSON: what it has counted since it started. It ends when stdin is closed. It is written for Java 8.
//
//   fill MIB       keeps that much more, as small objects that point at each other
//   churn MIB      allocates that much and keeps nothing
//   gc N           asks for N collections
//   dump N         asks for the stacks of all threads N times: a safepoint each, and no collection
//   deadlocks N    looks for deadlocks N times: likewise
//   busy N         starts N threads that compute, and never block
//   copy MIB       starts a thread, "copier", that copies that much over and over: it can't stop in the middle of a copy
//   wait MS        does nothing for so long
//   count          answers
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

public class Pauses {
    static final class Node {
        Node next, peer;
        long a, b, c;
        Node(Node next, Node peer) { this.next = next; this.peer = peer; }
    }

    // About 40 bytes with compressed pointers, 56 without.
    static final int NODES_PER_MIB = 26214;

    static final List<Node> kept = new ArrayList<>();
    static volatile Object sink;
    static volatile long done;

    static void fill(int mib) {
        for (int i = 0; i < mib; i++) {
            Node head = null;
            for (int n = 0; n < NODES_PER_MIB; n++) head = new Node(head, head);
            kept.add(head);
        }
    }

    static void churn(int mib) {
        for (int i = 0; i < mib * 16; i++) sink = new byte[65536 - 32];
    }

    static long compute(long value) {
        for (int i = 0; i < 1 << 20; i++) value = value * 6364136223846793005L + i;
        return value;
    }

    static void busy(int threads) {
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(new Runnable() {
                public void run() { for (;;) done += compute(done); }
            }, "busy-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    static void copy(int mib) {
        final byte[] from = new byte[mib << 20], to = new byte[mib << 20];
        Thread thread = new Thread(new Runnable() {
            public void run() { for (;;) System.arraycopy(from, 0, to, 0, from.length); }
        }, "copier");
        thread.setDaemon(true);
        thread.start();
    }

    static String counted() {
        long collections = 0, millis = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += bean.getCollectionCount();
            millis += bean.getCollectionTime();
        }
        return "{\"collections\":" + collections + ",\"collection_ms\":" + millis + ",\"nodes\":"
            + (long) kept.size() * NODES_PER_MIB + "}";
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println(counted());
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            int n = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            switch (words[0]) {
                case "fill": fill(n); break;
                case "churn": churn(n); break;
                case "gc": for (int i = 0; i < n; i++) System.gc(); break;
                case "dump": for (int i = 0; i < n; i++) sink = Thread.getAllStackTraces(); break;
                case "deadlocks":
                    for (int i = 0; i < n; i++) sink = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
                    break;
                case "busy": busy(n); break;
                case "copy": copy(n); break;
                case "wait": Thread.sleep(n); break;
                case "count": break;
                default: throw new IllegalArgumentException(line);
            }
            System.out.println(counted());
        }
    }
}
