/** Where a process is between start and end: draining still serves while its balancer looks away, closing refuses. */
export interface Lifecycle {
  state: 'serving' | 'draining' | 'closing'
}
