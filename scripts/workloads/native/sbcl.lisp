;;; Collections of SBCL, of each generation, with threads that have to be stopped for each. Told to run, it works and
;;; says what it did; the runtime counts and measures.

(defvar *kept* (make-array 300000))
(dotimes (i (length *kept*)) (setf (aref *kept* i) (list i i)))

;;; Linux's number for it.
(defconstant +clock-monotonic+ 1)

(defun now-ns ()
  (multiple-value-bind (seconds nanoseconds) (sb-unix::clock-gettime +clock-monotonic+)
    (+ (* seconds 1000000000) nanoseconds)))

(defun run ()
  (let ((intervals '()) (ran-before sb-ext:*gc-run-time*) (counted 0))
    (loop for generation in '(0 0 0 1 1 2 6 6)
          do (let ((epoch sb-kernel::*gc-epoch*) (began (now-ns)))
               (sb-ext:gc :gen generation)
               (let ((ended (now-ns)))
                 (unless (eq epoch sb-kernel::*gc-epoch*) (incf counted))
                 (push (list generation began ended) intervals))))
    (format t "{\"intervals\":[~{~a~^,~}],\"collections\":~d,\"run_time_us\":~d}~%"
            (mapcar (lambda (interval)
                      (destructuring-bind (generation began ended) interval
                        (format nil "{\"kind\":\"~d\",\"collections\":1,\"began_ns\":~d,\"ended_ns\":~d}"
                                generation began ended)))
                    (reverse intervals))
            counted
            (- sb-ext:*gc-run-time* ran-before))
    (finish-output)))

;;; A thread that has to be stopped.
(sb-thread:make-thread (lambda () (loop (sleep 0.001))) :name "sleeps")

(format t "{}~%")
(finish-output)
(loop for line = (read-line *standard-input* nil)
      while line
      do (if (string= line "run") (run) (progn (format t "{}~%") (finish-output))))
(sb-ext:exit :code 0 :abort t)
