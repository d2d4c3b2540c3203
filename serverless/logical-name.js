/** `transactionsList` -> `TransactionsList`, from which the packager makes the names of a function's resources. */
export function logicalName(name) {
  return name[0].toUpperCase() + name.slice(1);
}
