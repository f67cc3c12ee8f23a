/** Drops the links of a page that a package ships without the pages that they lead to. */
export const withoutLinks = (page: string): string =>
  page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1')
