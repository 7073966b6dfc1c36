import type { ChangeKind } from '@zhisuan/contract/nextstack/change'
import { migration, type Migrations } from '../../../platform/db/database.ts'

/** Topic on the bus: `kind bp_id`, with `-` for what belongs to nobody, or to all. */
export const changeTopic = 'change'

export const changeMigrations: Migrations = {
  // The tables themselves tell: no change by whatever code can forget to. Alike messages of one
  // transaction are sent once, and only when it commits.
  '20261121_30_change_function': migration(`
    create function tell_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify('zhisuan', '${changeTopic} ' || tg_argv[0] || ' ' || coalesce((case when tg_op = 'DELETE' then old.bp_id else new.bp_id end)::text, '-'));
      return null;
    end $$;
  `),
}

/** SQL that makes a table tell of its changes, as those of every kind whose lists show it. It has to have a column `bp_id`. */
export const tellsChanges = (table: string, ...kinds: readonly ChangeKind[]): string =>
  kinds
    .map((kind) => `create trigger ${table}_tell_${kind} after insert or update or delete on ${table} for each row execute function tell_change('${kind}');`)
    .join('\n')
