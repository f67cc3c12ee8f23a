/**
 * Files and folders in which other programs keep keys, passwords, sessions and wallets; matched against paths in lower
 * case with `/`, whose unknown parts are NUL. Settings without secrets beside them (`~/.ssh/config`) are no places.
 */
export const CREDENTIAL_PLACES: readonly RegExp[] = [
  // Keys and logins of command line tools.
  /(?:^|[/\0])\.ssh(?:\/(?:id_\w+|identity|authorized_keys|\*.*)?)?$/,
  /(?:^|[/\0])\.aws\/credentials$/,
  /(?:^|[/\0])\.azure\/(?:accesstokens\.json|msal_token_cache\.\w+)$/,
  /\.config\/gcloud\/(?:credentials\.db|access_tokens\.db|application_default_credentials\.json)$/,
  /(?:^|[/\0])\.kube\/config$/,
  /(?:^|[/\0])\.docker\/config\.json$/,
  /(?:^|[/\0])(?:\.git-credentials|\.pypirc|\.pgpass)$/,
  /(?:^|[/\0])\.gnupg(?:\/|$)/,
  /^\/etc\/(?:shadow|sudoers)$/,
  // Profiles of browsers.
  /(?:google\/chrome|microsoft\/edge|brave-browser|chromium|vivaldi|yandexbrowser)(?: beta| sxs)?\/user data(?:\/|$)/,
  /opera software\/opera (?:gx )?stable(?:\/|$)/,
  /(?:application support|\.config)\/(?:google\/chrome|google-chrome|microsoft edge|bravesoftware\/brave-browser|chromium)(?:\/|$)/,
  /mozilla\/firefox\/profiles(?:\/|$)/,
  /application support\/firefox\/profiles(?:\/|$)/,
  /(?:^|[/\0])\.mozilla\/firefox(?:\/|$)/,
  /[/\0](?:login data|logins\.json|key4\.db|cookies\.sqlite)$/,
  // Wallets.
  /(?:^|[/\0])wallet\.dat$/,
  /(?:exodus\/exodus\.wallet|electrum\/wallets|ethereum\/keystore|atomic\/local storage|com\.liberty\.jaxx|coinomi\/wallets|guarda\/local storage|zcash)(?:\/|$)/,
  /\.config\/solana\/id\.json$/,
  /(?:nkbihfbeogaeaoehlefnkodbefgpgknn|bfnaelmomeimhlpmgjnjophhpkkoljpa|fhbohimaelbohpjbbldcngcnapndodjp)/,
  // Sessions of chat programs.
  /discord(?:canary|ptb|development)?\/local storage\/leveldb/,
  /telegram desktop\/tdata(?:\/|$)/,
  /signal\/(?:config\.json|sql\/db\.sqlite)$/,
  /slack\/(?:local storage|storage|cookies)(?:\/|$)/,
]
