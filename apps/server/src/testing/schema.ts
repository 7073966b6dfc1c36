import type { Client } from 'pg'

/** Everything that a schema has, a line each: what two schemas differ in is what their sets of lines differ in. */
export async function schemaOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ line: string }>(catalogue)
  return rows.map(({ line }) => line.replaceAll(/\s+/g, ' ')).sort()
}

const ours = `relnamespace = 'public'::regnamespace`
/** What belongs to an extension is its own. */
const notExtended = (oid: string): string => `not exists (select from pg_depend where objid = ${oid} and deptype = 'e')`

const catalogue = [
  `select format('table %s column %s %s %s %s %s', relname, attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end, attgenerated,
     pg_get_expr(adbin, adrelid)) as line
   from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where ${ours} and relkind in ('r', 'p') and attnum > 0 and not attisdropped`,
  `select format('table %s constraint %s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid)) from pg_constraint join pg_class on pg_class.oid = conrelid
   where ${ours} and contype <> 'n'`,
  `select pg_get_indexdef(indexrelid) from pg_index join pg_class on pg_class.oid = indrelid where ${ours}`,
  `select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join pg_class on pg_class.oid = tgrelid where ${ours} and not tgisinternal`,
  `select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace and prokind <> 'a' and ${notExtended('oid')}`,
  `select format('view %s %s', relname, pg_get_viewdef(oid)) from pg_class where ${ours} and relkind in ('v', 'm')`,
  `select format('sequence %s', relname) from pg_class where ${ours} and relkind = 'S'`,
  `select format('type %s %s', typname, typtype) from pg_type where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r') and ${notExtended('oid')}`,
  `select format('partition %s of %s %s', child.relname, parent.relname, pg_get_expr(child.relpartbound, child.oid))
   from pg_inherits join pg_class as child on child.oid = inhrelid join pg_class as parent on parent.oid = inhparent where child.${ours}`,
  `select format('extension %s', extname) from pg_extension where extname <> 'plpgsql'`,
].join('\nunion all\n')
