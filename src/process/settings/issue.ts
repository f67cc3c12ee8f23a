/** Fault of a setting. */
export interface SettingIssue {
  /** The variable. */
  name: string
  message: string
}
