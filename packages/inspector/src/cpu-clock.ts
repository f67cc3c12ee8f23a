/**
 * Milliseconds of processor time that this process has used. Budgets of a reading count these. Otherwise, on a machine
 * with other work, the same archive would be read today and cut short tomorrow.
 */
export const cpuMilliseconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
