/** Version of the service and its API. `npm run docs` takes it from package.json; a build adds its commit. */
export const VERSION = '0.3.0-dev'
