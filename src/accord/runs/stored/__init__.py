"""Write runs into stores and read them back."""
