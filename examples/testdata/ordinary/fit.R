args <- commandArgs(trailingOnly = TRUE)
option <- function(name, default) {
  at <- match(name, args)
  if (is.na(at)) default else as.numeric(args[at + 1])
}
span <- option("--span", 0.5)
lambda <- option("--lambda", 0.1)
cat("n 100\n")
cat("RMSE", 0.2 + (span - 0.3)^2 + (log10(lambda) + 2)^2 / 10, "\n")
