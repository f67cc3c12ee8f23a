/** Database that every test's own is a copy of. */
export const TEMPLATE = 'kiln_template'
