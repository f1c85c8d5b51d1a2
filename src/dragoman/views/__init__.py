"""Views: pure folds over canonical events. They do no I/O and never ask which agent spoke."""
