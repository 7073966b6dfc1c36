import { migration, type Migrations } from '../../../platform/db/database.ts'

interface GuessTable {
  user_id: string
  /** Where wrong passwords came from, see `GuessSource`. */
  source: string
  wrong: number
  /** When the first of them came. */
  since: Date
  frozen_until: Date | null
}
interface DeviceTable {
  user_id: string
  /** SHA-256 of the cookie that it was given. */
  hash: Buffer
  used_at: Date
}
interface AttackTable {
  user_id: string
  /** When administrators were told. */
  told_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    password_guesses: GuessTable
    known_devices: DeviceTable
    password_attacks: AttackTable
  }
}

export const guessMigrations: Migrations = {
  // A freeze of before is over in five minutes, and was of everybody: nothing of it is kept.
  '20261126_01_password_guesses': migration(`
    create table password_guesses (
      user_id uuid not null references users on delete cascade,
      source text not null,
      wrong integer not null,
      since timestamptz not null,
      frozen_until timestamptz,
      primary key (user_id, source)
    );
    create table known_devices (
      user_id uuid not null references users on delete cascade,
      hash bytea not null,
      used_at timestamptz not null,
      primary key (user_id, hash)
    );
    create table password_attacks (
      user_id uuid primary key references users on delete cascade,
      told_at timestamptz not null
    );
    alter table users drop column wrong_passwords, drop column frozen_until;
  `),
}
