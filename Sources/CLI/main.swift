print("mintmark")
