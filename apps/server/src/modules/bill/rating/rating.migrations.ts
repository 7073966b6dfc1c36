import { migration, type Migrations } from '../../../platform/db/database.ts'

export const ratingMigrations: Migrations = {
  '20261122_75_rating': migration(`
    -- No line of the resource begins at or after this.
    alter table metered_resources add lines_until timestamptz not null default '-infinity';
    create index usage_sums_of_all on usage_sums (month, dimension, bp_id);
    create index usage_sums_months on usage_sums (bp_id, month) include (amount) where dimension = 'month';
  `),
}
