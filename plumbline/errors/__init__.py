"""Mistakes of users: the exception that stands for one, and how they are reported."""

from plumbline.errors.user_error import UserError, showing_the_message_alone

__all__ = ["UserError", "showing_the_message_alone"]
