/** Version of the service and its API; package.json has the same. */
export const VERSION = '0.2.0'
