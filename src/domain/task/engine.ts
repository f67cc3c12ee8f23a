/** Engine that renders a task: this service, or an upstream that speaks its interface. */
export type EngineName = 'local' | 'vendor'
