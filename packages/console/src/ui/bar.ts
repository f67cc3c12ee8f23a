/** A value of a chart over time. */
export interface Bar {
  /** Day or month where it begins. */
  label: string
  value: number
  /** The value as people read it. */
  text: string
}
