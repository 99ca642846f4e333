"""What the command's exit status says."""

SUCCESS = 0
DIFFERS = 1
MISTAKE = 2
"""As argparse, and with it most commands, end for a command line that they do not understand."""
FAULT = 3

EXPLANATION = f"""\
exit status:
  {SUCCESS}    all is well
  {DIFFERS}    results differ from what they are compared with
  {MISTAKE}    a mistake in the command line, the program or a file, which a message names
  {FAULT}    a fault of Plumbline's, or of what it is made with
  130  interrupted
"""
