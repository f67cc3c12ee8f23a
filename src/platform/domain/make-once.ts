/** Makes a function that makes something once of each object, for as long as that is in use. */
export const makeOnce = <Key extends object, Made>(make: (key: Key) => Made) => {
  const made = new WeakMap<Key, Made>()
  return (key: Key): Made => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}
