;;; Collections in Guile, whose collector is the Boehm-Demers-Weiser collector. Told to run, it works and says what it
;;; did; the collector counts.

(use-modules (ice-9 rdelim))

(define kept (iota 300000))

(define (count-collections) (assq-ref (gc-stats) 'gc-times))

;; Guile's internal real time is CLOCK_MONOTONIC less the time of Guile's start: the differences are what counts.
(define (now-ns) (get-internal-real-time))

(define (run)
  (let ((before (count-collections)))
    (display "{\"intervals\":[")
    (do ((i 0 (+ i 1))) ((= i 10))
      (let ((counted (count-collections)) (began (now-ns)))
        (gc)
        (let ((ended (now-ns)))
          (format #t "~a{\"kind\":\"full\",\"collections\":~a,\"began_ns\":~a,\"ended_ns\":~a}"
                  (if (= i 0) "" ",") (- (count-collections) counted) began ended))))
    (format #t "],\"collections\":~a}~%" (- (count-collections) before))
    (force-output)))

(format #t "{}~%")
(force-output)
(let loop ((line (read-line)))
  (unless (eof-object? line)
    (if (string=? line "run") (run) (begin (format #t "{}~%") (force-output)))
    (loop (read-line))))
(format #t "~a~%" (length kept))
