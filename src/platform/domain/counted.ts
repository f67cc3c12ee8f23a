/** Makes `1 task`, `2 tasks`; with other words `1 task waits`, `2 tasks wait`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
