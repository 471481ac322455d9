# cmake -DINPUT=file -DOUTPUT=file.c -DNAME=symbol -P embed.cmake: a file as a byte array NAME[] and NAME_size.
file(READ "${INPUT}" hex HEX)
string(REPEAT "[0-9a-f]" 64 run)
string(REGEX REPLACE "(${run})" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}" "#include <stddef.h>\nextern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\n"
     "const unsigned char ${NAME}[] = {\n${bytes}};\nconst size_t ${NAME}_size = sizeof ${NAME};\n")
