/** An issue of a setting, in words for an operator. */
export interface SettingIssue {
  /** The variable. */
  name: string
  message: string
  /** Another variable that needs it; absent: it is wrong by itself. */
  by?: string
}
