"""Reopen runs that are stored, whatever they carry out: read them, or go on."""
