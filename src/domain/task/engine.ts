/** Who turns the inputs and settings of a task into results: this service, or an upstream that speaks its interface. */
export type EngineName = 'local' | 'vendor'
