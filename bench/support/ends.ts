import type { Sql } from '../../src/platform/db/client.ts'

/**
 * Listens for ends in the database by a trigger of its own: a poll often enough to be exact would take a quarter of a core
 * from what is measured. `when` says of `old` and `new` what an end is.
 */
export const listenForEnds = async (sql: Sql, { table, when }: { table: string; when: string }) => {
  const ended = new Map<string, string>()
  const waiting = new Map<string, (status: string) => void>()
  const name = `${table}_ended`
  await sql.unsafe(`
    create function ${name}() returns trigger language plpgsql as $$
    begin
      perform pg_notify('${name}', new.id || ' ' || new.status);
      return new;
    end $$;
    create trigger ${name} after update on ${table} for each row when (${when}) execute function ${name}();
  `)
  const { unlisten } = await sql.listen(name, (payload) => {
    const [id = '', status = ''] = payload.split(' ')
    ended.set(id, status)
    waiting.get(id)?.(status)
  })
  return {
    /** The state in which a row ended. Each end is returned once. */
    async of(id: string): Promise<string> {
      const status =
        ended.get(id) ?? (await new Promise<string>((resolve) => waiting.set(id, resolve)))
      waiting.delete(id)
      ended.delete(id)
      return status
    },
    stop: unlisten,
  }
}
