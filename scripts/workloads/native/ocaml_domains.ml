(* OCaml 5 with several domains, all of which allocate: whichever runs out of memory first leads the stop, and others lose
   the race for it. Told to run, it works and says what it did; its runtime counts. *)

external now_ns : unit -> (int[@untagged])
  = "workload_now_ns_boxed" "workload_now_ns" [@@noalloc]

let allocate () =
  let old = Array.init 20_000 (fun i -> string_of_int i) in
  for i = 1 to 1_000_000 do
    old.(i mod 20_000) <- string_of_int i
  done;
  ignore (Sys.opaque_identity old)

let run () =
  prerr_endline "--- run begins";
  let before = Gc.quick_stat () in
  let began = now_ns () in
  let domains = List.init 3 (fun _ -> Domain.spawn allocate) in
  allocate ();
  List.iter Domain.join domains;
  let ended = now_ns () in
  let after = Gc.quick_stat () in
  prerr_endline "--- run ends";
  Printf.printf
    {|{"intervals":[{"kind":"allocate","collections":%d,"began_ns":%d,"ended_ns":%d}],"minor":%d,"major":%d,"compactions":%d}|}
    (after.Gc.minor_collections - before.Gc.minor_collections)
    began ended
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
