(* Collections of OCaml 4 or 5, of each kind that a program can ask for and of those that allocating brings about.
   Told to run, it works and says what it did; its runtime counts. *)

external now_ns : unit -> (int[@untagged])
  = "workload_now_ns_boxed" "workload_now_ns" [@@noalloc]

let intervals = ref []

(* What is told to run is something that collects: when it began and ended, and how many collections of the minor heap
   the runtime counted meanwhile. *)
let during kind work =
  let minor () = (Gc.quick_stat ()).Gc.minor_collections in
  let before = minor () in
  let began = now_ns () in
  work ();
  let ended = now_ns () in
  intervals := (kind, minor () - before, began, ended) :: !intervals

let kept = ref []

(* Something young, so that a collection has work. *)
let litter () = kept := [ Sys.opaque_identity (string_of_int (List.length !kept)) ]

let run () =
  prerr_endline "--- run begins";
  intervals := [];
  let before = Gc.quick_stat () in
  for _ = 1 to 7 do
    litter ();
    during "minor" Gc.minor
  done;
  for _ = 1 to 5 do
    litter ();
    during "full" Gc.full_major
  done;
  for _ = 1 to 3 do
    litter ();
    during "compact" Gc.compact
  done;
  during "allocate" (fun () ->
      let old = Array.init 200_000 (fun i -> string_of_int i) in
      for i = 1 to 2_000_000 do
        old.(i mod 200_000) <- string_of_int i
      done;
      ignore (Sys.opaque_identity old));
  let after = Gc.quick_stat () in
  prerr_endline "--- run ends";
  let shown (kind, collections, began, ended) =
    Printf.sprintf {|{"kind":"%s","collections":%d,"began_ns":%d,"ended_ns":%d}|}
      kind collections began ended
  in
  Printf.printf
    {|{"intervals":[%s],"minor":%d,"major":%d,"compactions":%d}|}
    (String.concat "," (List.rev_map shown !intervals))
    (after.Gc.minor_collections - before.Gc.minor_collections)
    (after.Gc.major_collections - before.Gc.major_collections)
    (after.Gc.compactions - before.Gc.compactions);
  print_newline ()

let () =
  print_endline "{}";
  try
    while true do
      match input_line stdin with "run" -> run () | _ -> print_endline "{}"
    done
  with End_of_file -> ()
