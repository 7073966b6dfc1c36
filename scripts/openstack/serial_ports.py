"""A serial port for each machine of Nova's fake driver, as QEMU has one: a TCP port on loopback that takes one client at
a time, and closes when the machine goes off. Behind it is a play of a login and a shell that runs nothing of this host.
"""
import eventlet
from eventlet.green import socket
from nova import exception
from nova.compute import power_state
from nova.console import type as console_type
from nova.virt import fake

MOST_LINES = 1_000_000


class Line:
    """What is plugged in at the other end, over however many connections: who is signed in stays signed in."""

    def __init__(self, name):
        self.name = name
        self.listener = eventlet.listen(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.client = None
        self.user = None
        self.password = False
        self.typed = b''
        self.thread = eventlet.spawn(self.serve)

    def serve(self):
        while True:
            self.client, _ = self.listener.accept()
            try:
                while data := self.client.recv(4096):
                    for at in range(len(data)):
                        self.key(data[at:at + 1])
            except OSError:
                pass
            self.client.close()

    def close(self):
        self.thread.kill()
        # Closing alone would leave it open below: somebody waits for it.
        for one in (self.client, self.listener):
            if one is not None:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                one.close()

    def say(self, text):
        self.client.sendall(text.encode())

    def prompt(self):
        self.say(f'{self.name} login: ' if self.user is None else f'{self.user}@{self.name}:~# ')

    def key(self, one):
        if one in (b'\r', b'\n'):
            self.say('\r\n')
            line, self.typed = self.typed.decode(errors='replace').strip(), b''
            self.enter(line)
        elif one == b'\x03':
            self.typed = b''
            self.say('^C\r\n')
            self.prompt()
        elif one in (b'\x7f', b'\b'):
            if self.typed:
                self.typed = self.typed.decode(errors='replace')[:-1].encode()
                if not self.password:
                    self.say('\b \b')
        elif len(self.typed) < 4096:
            self.typed += one
            if not self.password:
                self.client.sendall(one)

    def enter(self, line):
        if self.password:
            self.password = False
            self.say(f'Welcome to {self.name}\r\n')
        elif self.user is None:
            if line:
                self.user, self.password = line, True
                self.say('Password: ')
                return
        elif line:
            self.run(*line.split(' '))
        self.prompt()

    def run(self, command, *words):
        if command == 'echo':
            self.say(' '.join(words) + '\r\n')
        elif command == 'hostname':
            self.say(f'{self.name}\r\n')
        elif command == 'seq' and len(words) == 1 and words[0].isdigit():
            last = min(int(words[0]), MOST_LINES)
            for first in range(1, last + 1, 1000):
                self.say(''.join(f'{number}\r\n' for number in range(first, min(first + 1000, last + 1))))
        elif command in ('exit', 'logout'):
            self.user = None
        else:
            self.say(f'sh: {command}: not found\r\n')


lines = {}


def get_serial_console(self, context, instance):
    machine = self.instances.get(instance.uuid)
    # Of those that ran before this process began, the fake driver knows nothing.
    if machine is not None and machine.state != power_state.RUNNING:
        raise exception.InstanceNotFound(instance_id=instance.uuid)
    if instance.uuid not in lines:
        lines[instance.uuid] = Line(instance.hostname)
    line = lines[instance.uuid]
    return console_type.ConsoleSerial(host='127.0.0.1', port=line.port)


def going_off(method):
    def off(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        # Each takes the instance by name or somewhere among the first.
        instance = kwargs.get('instance') or next(one for one in args if hasattr(one, 'uuid'))
        machine = self.instances.get(instance.uuid)
        # Destroyed, it is not there any more. A call that does not end it leaves its line as it is.
        if machine is None or machine.state != power_state.RUNNING:
            line = lines.pop(instance.uuid, None)
            if line is not None:
                line.close()
        return result
    return off


def plug_in():
    fake.FakeDriver.get_serial_console = get_serial_console
    fake.FakeDriver.power_off = going_off(fake.FakeDriver.power_off)
    fake.FakeDriver.destroy = going_off(fake.FakeDriver.destroy)
